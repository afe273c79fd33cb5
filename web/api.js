// Requests to the server that served the page.

/// The JSON of an address; throws a sentence for people.
export async function load(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" } });
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Error(body && body.error ? body.error.message : `${response.status}`);
  return body;
}

/// Presses a button and returns what became of it, as a receipt.
export async function press(command, source) {
  const response = await fetch("/api/press", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ command, source }),
  });
  const body = await response.json().catch(() => null);
  if (!response.ok || !body) throw new Error(body && body.error ? body.error.message : `${response.status}`);
  return body;
}

/// Follows the present run: `onView` gets each view, `onState` whether the stream is open, opening or closed. A closed
/// stream (too many viewers, or no token) is tried again every ten seconds.
export function follow(onView, onState) {
  let source = null;
  let timer = null;
  function open() {
    source = new EventSource("/events");
    source.addEventListener("open", () => onState("open"));
    source.addEventListener("view", (event) => onView(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      const isClosed = source.readyState === EventSource.CLOSED;
      onState(isClosed ? "closed" : "opening");
      if (isClosed) timer = setTimeout(open, 10000);
    });
  }
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
