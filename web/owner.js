// What the owner of a run can do with it: give it a title, export it, delete it.
import { download, send } from "./api.js";
import { element, setText } from "./element.js";
import { distance, startOf, titleOf, word } from "./format.js";

/// The heading of a run, which can be edited, and its tools. `owner` says what this machine can do: only that of the phone changes runs.
export function makeTools(summary, owner, tell) {
  const address = `/api/records/${summary.runId}`;
  const heading = element("h1", {}, titleOf(summary));
  const fail = (error) => tell(word("changeFailed", { reason: error.message }));
  const tools = [];
  if (owner.formats.length) tools.push(exportTool(summary, address, owner.formats, fail));
  if (!owner.canChange) return { heading, node: element("div", { class: "owned" }, tools) };
  const form = makeTitle(summary, address, heading, tell, fail);
  const removal = makeRemoval(summary, address, tell, fail);
  const rename = element("button", { type: "button", onclick: () => form.open(rename) }, word("rename"));
  const remove = element("button", { type: "button", class: "remove", onclick: () => removal.open() }, word("deleteRun"));
  return { heading, node: element("div", {}, form.node, element("div", { class: "owned" }, rename, tools, remove), removal.node) };
}

/// A button for each format of a file.
function exportTool(summary, address, formats, fail) {
  const name = (format) => `run-${summary.runId.slice(0, 8)}.${format}`;
  return element("div", { class: "exports", role: "group", "aria-label": word("exportRun") }, element("span", {}, word("exportRun")), formats.map((format) => element(
    "button", { type: "button", onclick: () => download(`${address}/export?format=${format}`, name(format)).catch(fail) }, format.toUpperCase())));
}

/// The form of the title: Enter saves, Escape leaves it.
function makeTitle(summary, address, heading, tell, fail) {
  const input = element("input", { type: "text", id: "title", maxlength: 256, autocomplete: "off" });
  const save = element("button", { type: "button", class: "button main", onclick: () => keep() }, word("save"));
  const cancel = element("button", { type: "button", onclick: () => close() }, word("cancel"));
  const node = element("div", { class: "title", hidden: true }, element("label", { for: "title" }, word("titleLabel")), input, save, cancel);
  let opener = null;
  function close() {
    [node.hidden, opener.parentElement.hidden] = [true, false];
    opener.focus();
  }
  async function keep() {
    save.disabled = true;
    try {
      const { title } = await send(`${address}/title`, { title: input.value.trim() });
      summary.title = title;
      setText(heading, titleOf(summary));
      document.title = `${titleOf(summary)} · RunBus`;
      tell(word("renamed", { title: titleOf(summary) }));
      close();
    } catch (error) { fail(error); } finally { save.disabled = false; }
  }
  input.addEventListener("keydown", (event) => {
    // The Enter that ends a syllable is none of ours.
    if (event.isComposing) return;
    if (event.key === "Enter") keep();
    if (event.key === "Escape") close();
  });
  return {
    node,
    open(from) {
      opener = from;
      [input.value, input.placeholder] = [summary.title, titleOf({ ...summary, title: "" })];
      [node.hidden, opener.parentElement.hidden] = [false, true];
      input.focus();
      input.select();
    },
  };
}

/// The question before a run is deleted. What cannot be taken back is not the answer that Enter gives.
function makeRemoval(summary, address, tell, fail) {
  const yes = element("button", { type: "button", class: "remove sure", onclick: () => remove() }, word("deleteSure"));
  const no = element("button", { type: "button", autofocus: true, onclick: () => node.close() }, word("cancel"));
  const question = element("h2", { id: "ask" });
  const node = element("dialog", { "aria-labelledby": "ask" }, question, element(
    "p", {}, word("deleteWarns", { start: startOf(summary), distance: distance(summary.distanceMeters) })), element("div", { class: "owned" }, no, yes));
  async function remove() {
    yes.disabled = true;
    try {
      await send(`${address}/remove`, { runId: summary.runId });
      node.close();
      // The next view begins without a sentence.
      window.addEventListener("hashchange", () => tell(word("deleted", { title: titleOf(summary) })), { once: true });
      location.hash = "#/records";
    } catch (error) {
      node.close();
      fail(error);
    } finally { yes.disabled = false; }
  }
  return {
    node,
    open() {
      setText(question, word("deleteAsks", { title: titleOf(summary) }));
      node.showModal();
    },
  };
}
