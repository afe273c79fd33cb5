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

/// Presses a button and returns what became of it, as a receipt.
export async function press(command, source) {
  const response = await fetch("/api/press", {
    method: "POST", signal: AbortSignal.timeout(10000), headers: { "Content-Type": "application/json" }, body: JSON.stringify({ command, source }),
  });
  const body = await response.json().catch(() => null);
  if (!response.ok || !body) throw refusalOf(response, body);
  return body;
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
