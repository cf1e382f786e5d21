// What comes back, drawn. Places in texts are characters, not UTF-16 units: texts are cut as arrays of characters.

import { byId, make, say } from "./dom.js";

const SIGNS = { full: "✓", partial: "~", none: "✗", unscored: "?" };
const MARKER = /[[【]\s*\D{0,3}\d[^\][【】]*[\]】]/gu;
const level = (judged) => judged.support ?? "unscored";
const oneLine = (text) => text.replace(/\s+/gu, " ").trim();

/** The verified answer: its text in colours and signs, then notes. */
export function drawVerified(result, documents) {
  const chars = Array.from(result.answer);
  const text = make("div", { className: "text" });
  let done = 0;
  result.statements.forEach((statement, i) => {
    const next = result.statements[i + 1]?.start ?? chars.length;
    text.append(chars.slice(done, statement.start).join(""));
    text.append(drawStatement(statement, i, chars, documents));
    done = statement.end;
    // markers behind the full stop lie outside of the statement
    drawPieces(text, chars, statement.end, next, statement, documents, (piece) => piece);
    done = next;
  });
  text.append(chars.slice(done).join(""));
  return [summary(result), legend(result), make("p", { className: "hint", textContent: say("how") }), text, notes(result, chars)];
}

export function summaryText(result) {
  const { full, statements, unscored } = result.counts;
  if (!statements) return say("no_statements");
  const scored = statements - unscored;
  const share = scored ? Math.round((100 * full) / scored) : 0;
  return say("summary", { full, scored, share }) + (unscored ? say("summary_unscored", { n: unscored }) : "");
}

function summary(result) {
  return make("p", { className: "visually-hidden", textContent: summaryText(result) });
}

function legend(result) {
  const list = make("ul", { className: "legend" });
  for (const name of ["full", "partial", "none", "unscored"]) {
    const count = result.counts[name];
    if (count) list.append(make("li", { className: `${name} chip` }, `${SIGNS[name]} ${say(`support_${name}`)}: ${count}`));
  }
  for (const [name, contradicts] of [["unsupported", false], ["contradicted", true]]) {
    const marked = result.statements.some((statement) => statement.unsupported && statement.contradicts === contradicts);
    if (marked) list.append(make("li", {}, make("span", { className: name }, say(`words_${name}`))));
  }
  return list;
}

function drawStatement(statement, number, chars, documents) {
  const name = level(statement);
  const span = make("span", { className: `statement ${name}`, id: `statement-${number}` });
  span.append(
    make("span", { className: "sign", ariaHidden: "true", textContent: SIGNS[name] }),
    make("span", { className: "visually-hidden", textContent: `(${say(`support_${name}`)}) ` }),
  );
  const same = (text) => text;
  const underlined = (text) => make("span", { className: statement.contradicts ? "contradicted" : "unsupported" }, text);
  const [from, to] = statement.unsupported ?? [statement.end, statement.end];
  drawPieces(span, chars, statement.start, from, statement, documents, same);
  drawPieces(span, chars, from, to, statement, documents, underlined);
  drawPieces(span, chars, to, statement.end, statement, documents, same);
  return span;
}

/** Characters start to end: citations become buttons, the rest what `plain` makes of it. */
function drawPieces(parent, chars, start, end, statement, documents, plain) {
  const text = chars.slice(start, end).join("");
  let done = 0;
  for (const match of text.matchAll(MARKER)) {
    const numbers = numbersOf(match[0]).filter((n) => known(statement, n));
    if (!numbers.length) continue;
    if (match.index > done) parent.append(plain(text.slice(done, match.index)));
    parent.append(citation(match[0], numbers, statement, documents));
    done = match.index + match[0].length;
  }
  if (done < text.length) parent.append(plain(text.slice(done)));
}

const known = (statement, n) => statement.citations.some((c) => c.document === n) || statement.unknown.includes(n);

/** "[1, 3-5]": 1, 3, 4, 5. */
function numbersOf(marker) {
  const found = [];
  for (const [, first, last] of marker.replace(/†[^,;\]】]*/gu, "").matchAll(/(\d+)(?:\s*[-–—]\s*\D?(\d+))?/gu)) {
    const to = Math.min(Number(last ?? first), Number(first) + 99);
    for (let n = Number(first); n <= to; n += 1) found.push(n);
  }
  return found;
}

function citation(marker, numbers, statement, documents) {
  const cited = numbers.map((n) => statement.citations.find((c) => c.document === n));
  const button = make("button", { type: "button", className: "cite", textContent: marker });
  if (cited.some((c) => !c || c.support === "none")) button.dataset.weak = "";
  button.setAttribute("aria-describedby", "evidence");
  const show = () => showEvidence(button, numbers, cited, documents);
  button.addEventListener("focus", show);
  button.addEventListener("pointerenter", show);
  button.addEventListener("click", show);
  button.addEventListener("blur", hideEvidence);
  button.addEventListener("pointerleave", (event) => {
    if (document.activeElement !== button && !byId("evidence").contains(event.relatedTarget)) hideEvidence();
  });
  return button;
}

function showEvidence(button, numbers, cited, documents) {
  const panel = byId("evidence");
  panel.replaceChildren(...numbers.map((n, i) => evidenceOf(n, cited[i], documents[n - 1])));
  panel.hidden = false;
  const outer = byId("results").getBoundingClientRect();
  const place = button.getBoundingClientRect();
  const left = Math.min(place.left - outer.left, outer.width - panel.offsetWidth - 12);
  panel.style.left = `${Math.max(12, left)}px`;
  const box = button.closest(".text").getBoundingClientRect();
  const below = box.bottom - place.bottom < 160 ? box.bottom : place.bottom; // rather below the answer than over it
  panel.style.top = `${below - outer.top + byId("results").scrollTop + 4}px`;
}

export function hideEvidence() {
  byId("evidence").hidden = true;
}

function evidenceOf(number, found, source) {
  const heading = make("h4", {}, `[${number}] ${source ? source.title || say("no_title") : ""}`);
  if (!found) return make("article", {}, heading, make("p", { textContent: say("names_no_document") }));
  const name = level(found);
  const told = make("p", {}, make("span", { className: `tag ${name}` }, `${SIGNS[name]} ${say(`support_${name}`)}`));
  if (found.superfluous && name !== "none") told.append(make("span", { className: "tag partial" }, say("is_superfluous")));
  if (found.p_full !== null) {
    told.append(make("small", {}, say("probability", { p: Math.round(100 * found.p_full) })));
  }
  const rest = found.evidence
    ? make("blockquote", { textContent: found.evidence.text })
    : make("p", { className: "hint", textContent: found.reason ?? say("no_evidence") });
  return make("article", {}, heading, told, rest);
}

function notes(result, chars) {
  const list = make("ul", { className: "notes" });
  result.statements.forEach((statement, i) => {
    const told = notesOf(statement, chars);
    if (!told.length) return;
    const name = level(statement);
    const about = make("p", { className: "about" }, `${SIGNS[name]} ${i + 1}. ${oneLine(statement.text)}`);
    list.append(make("li", {}, about, ...told.map((text) => make("p", { textContent: text }))));
  });
  if (result.stray.length) list.append(make("li", {}, say("stray", { n: result.stray.map((n) => `[${n}]`).join(" ") })));
  for (const aside of result.asides) list.append(make("li", {}, say("aside", { text: oneLine(chars.slice(...aside).join("")) })));
  return list.children.length ? make("section", {}, make("h3", { textContent: say("notes") }), list) : "";
}

function notesOf(statement, chars) {
  const told = [];
  if (statement.support === null) told.push(say("reason", { text: statement.reason }));
  if (!statement.cited && !statement.unknown.length) told.push(say("uncited"));
  if (statement.unsupported) {
    const key = statement.contradicts ? "contradicted" : "unsupported";
    told.push(say(key, { text: oneLine(chars.slice(...statement.unsupported).join("")) }));
  }
  for (const n of statement.unknown) told.push(say("unknown", { n }));
  for (const { document: n, support, superfluous } of statement.citations) {
    if (support === "none") told.push(say("wrong", { n }));
    else if (superfluous) told.push(say("superfluous", { n }));
  }
  for (const { document: n, completes, evidence } of statement.missing) {
    told.push(say(completes ? "missing_completes" : "missing_helps", { n, text: oneLine(evidence?.text ?? "") }));
  }
  return told;
}

/** What fix or cite did, as one line. */
export function rewrittenText(result, what) {
  const same = (a, b) => a.length === b.length && a.every((n) => b.includes(n));
  const changed = result.changes.filter((c) => !same(c.before, c.after) || (c.unknown.length && !c.reason)).length;
  const bare = result.changes.filter((c) => !c.after.length && c.reason === null).length;
  const key = changed ? (what === "cite" ? "changed_cite" : "changed") : `unchanged_${what}`;
  return say(key, { n: changed, all: result.changes.length }) + (bare ? `; ${say("left_bare", { n: bare })}` : "");
}

/** The rewritten answer with what was deleted and inserted. */
export function drawRewritten(result, use, copy) {
  const text = make("div", { className: "text" });
  for (const [kind, piece] of difference(result.answer, result.text)) {
    const tag = { deleted: "del", inserted: "ins" }[kind];
    if (!tag) {
      text.append(piece);
      continue;
    }
    const said = piece.trimStart();
    const kindOf = make("span", { className: "visually-hidden", textContent: say(kind) });
    text.append(piece.slice(0, piece.length - said.length), make(tag, {}, kindOf, said));
  }
  const actions = make(
    "div",
    { className: "actions" },
    make("button", { type: "button", textContent: say("use"), onclick: use }),
    make("button", { type: "button", textContent: say("copy"), onclick: copy }),
  );
  const list = make("ul", { className: "notes" });
  for (const change of result.changes) {
    const told = change.reason ? say("reason", { text: change.reason }) : change.finding && say(`finding_${change.finding}`);
    if (!told || change.finding === "supported") continue;
    list.append(make("li", {}, make("p", { className: "about" }, oneLine(change.text)), make("p", { textContent: told })));
  }
  return [text, actions, list];
}

/** [kind, text] pieces of two texts that are the same besides their markers. */
export function difference(before, after) {
  const pieces = [];
  const add = (kind, text) => {
    if (!text) return;
    if (pieces.at(-1)?.[0] === kind) pieces.at(-1)[1] += text;
    else pieces.push([kind, text]);
  };
  const cut = (text) => text.match(/[ \t\u00a0]*[[【][^\][【】]*[\]】]|[^]/gu) ?? []; // markers, and single characters
  const [a, b] = [cut(before), cut(after)];
  const isMarker = (token) => token !== undefined && /^[ \t\u00a0]*[[【].*\d/u.test(token);
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && a[i] === b[j]) add("same", a[i]), (i += 1), (j += 1);
    else if (isMarker(a[i])) add("deleted", a[i]), (i += 1);
    else if (isMarker(b[j])) add("inserted", b[j]), (j += 1);
    else break;
  }
  add("deleted", a.slice(i).join(""));
  add("inserted", b.slice(j).join(""));
  return pieces;
}
