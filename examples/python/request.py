import sys, zmq, runbus
hub = zmq.Context.instance().socket(zmq.REQ)
hub.connect(runbus.control_endpoint())
hub.send(runbus.PeerFrame(request={"command": runbus.command(sys.argv[1]), "device_id": "script"}).SerializeToString())
print(runbus.describe(runbus.HubFrame.FromString(hub.recv())))
