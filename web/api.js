// Requests to the server that served the page.

/// An error that names the status of the answer.
function refusalOf(response, body) {
  const error = new Error(body && body.error ? body.error.message : `${response.status}`);
  error.status = response.status;
  return error;
}

/// The JSON of an address; throws a sentence for people.
export async function load(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" } });
  const body = await response.json().catch(() => null);
  if (!response.ok) throw refusalOf(response, body);
  return body;
}

/// Sends a change and returns the answer; throws a sentence for people.
export async function send(path, change) {
  const response = await fetch(path, {
    method: "POST", signal: AbortSignal.timeout(10000), headers: { "Content-Type": "application/json" }, body: JSON.stringify(change),
  });
  const body = await response.json().catch(() => null);
  if (!response.ok || !body) throw refusalOf(response, body);
  return body;
}

/// Presses a button and returns what became of it, as a receipt.
export async function press(command, source) { return send("/api/press", { command, source }); }

/// A file that the server makes, as a browser saves it; throws a sentence for people.
export async function download(path, name) {
  const response = await fetch(path);
  if (!response.ok) throw refusalOf(response, await response.json().catch(() => null));
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  [link.href, link.download] = [address, name];
  link.click();
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/// Follows the present run: `onView` gets each view, `onState` whether the stream is `open`, `opening`, `full` (too many
/// viewers) or `refused` (no cookie). A stream that the server refused is tried again every ten seconds.
export function follow(onView, onState) {
  let source = null;
  let timer = null;
  let isEnded = false;
  // EventSource does not tell why it was refused, so another request asks for it.
  async function explain() {
    const request = new AbortController();
    let state = "opening";
    try {
      const response = await fetch("/events", { signal: request.signal });
      if (response.status === 403) state = "refused";
      else if (!response.ok && (await response.json()).error.code === "viewers") state = "full";
    } catch { /* the server does not answer */ }
    request.abort();
    if (!isEnded && source.readyState === EventSource.CLOSED) onState(state);
  }
  function open() {
    source = new EventSource("/events");
    source.addEventListener("open", () => onState("open"));
    source.addEventListener("view", (event) => onView(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) return onState("opening");
      timer = setTimeout(open, 10000);
      return explain();
    });
  }
  // A browser opens at most six connections to a server. A hidden tab closes its stream, so that visible tabs can connect.
  function change() {
    clearTimeout(timer);
    if (source) source.close();
    if (!isEnded && document.visibilityState !== "hidden") open();
  }
  document.addEventListener("visibilitychange", change);
  change();
  return () => {
    isEnded = true;
    document.removeEventListener("visibilitychange", change);
    change();
  };
}
