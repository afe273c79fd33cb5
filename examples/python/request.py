import sys, zmq, runbus
hub = zmq.Context.instance().socket(zmq.REQ)
hub.connect(runbus.control_endpoint())
hub.send(runbus.request(sys.argv[1], device="script").SerializeToString())
print(runbus.describe(runbus.HubFrame.FromString(hub.recv())))
