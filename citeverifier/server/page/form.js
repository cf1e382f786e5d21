// The form: an answer, a question, the numbered documents.

import { byId, make, say } from "./dom.js";

const rows = () => [...byId("documents").children];
const fieldsOf = (row) => [row.querySelector("input"), row.querySelector("textarea")];

export function addDocument({ title = "", text = "" } = {}) {
  const name = make("input", { value: title, autocomplete: "off" });
  const remove = make("button", { type: "button", textContent: "✕" });
  const area = make("textarea", { value: text, rows: 2, spellcheck: false });
  const row = make("li", {}, make("span", { className: "number" }), name, remove, area);
  byId("documents").append(row);
  number();
  remove.addEventListener("click", () => {
    const place = rows().indexOf(row);
    row.remove();
    number();
    (rows()[Math.min(place, rows().length - 1)]?.querySelector("input") ?? byId("add")).focus();
    byId("documents").dispatchEvent(new CustomEvent("removed", { detail: { n: place + 1 } }));
  });
  return row;
}

/** Number the documents, and name their fields. */
export function number() {
  rows().forEach((row, i) => {
    const n = i + 1;
    const [title, text] = fieldsOf(row);
    row.querySelector(".number").textContent = `[${n}]`;
    title.placeholder = say("title_placeholder");
    text.placeholder = say("text_placeholder");
    title.setAttribute("aria-label", say("document_title", { n }));
    text.setAttribute("aria-label", say("document_text", { n }));
    row.querySelector("button").setAttribute("aria-label", say("remove", { n }));
  });
}

/** Add documents behind the last that is filled in: numbers stay. */
export function addDocuments(documents) {
  while (rows().length && !fieldsOf(rows().at(-1)).some((field) => field.value.trim())) rows().at(-1).remove();
  for (const each of documents) addDocument(each);
}

export function fill({ answer, question, documents }) {
  byId("answer").value = answer;
  byId("question").value = question;
  byId("documents").replaceChildren();
  for (const each of documents) addDocument(each);
}

export function formState() {
  const documents = rows().map((row) => {
    const [title, text] = fieldsOf(row);
    return { title: title.value, text: text.value };
  });
  return { answer: byId("answer").value, question: byId("question").value, documents };
}
