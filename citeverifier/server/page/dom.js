// Small tools: elements made of text only (never of HTML), and the words of the page's language.

/** Every word of the page, by language: adding one to words.json is enough. */
export const words = await (await fetch("page/words.json")).json();
let lang = "en";

export const byId = (id) => document.getElementById(id);
export const oneLine = (text) => text.replace(/\s+/gu, " ").trim();

/** An element with properties, data and children; strings become text nodes. */
export function make(tag, properties = {}, ...children) {
  const { data = {}, ...rest } = properties;
  const element = Object.assign(document.createElement(tag), rest);
  Object.assign(element.dataset, data);
  element.append(...children);
  return element;
}

/** The string of a key, its {places} filled. */
export function say(key, values = {}) {
  return (words[lang][key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export const currentLanguage = () => lang;

/** Write a language into the page. */
export function speak(code) {
  lang = code;
  document.documentElement.lang = code;
  document.title = say("title");
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = say(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", say(element.dataset.label));
  for (const button of document.querySelectorAll("[data-lang]")) {
    button.setAttribute("aria-pressed", String(button.dataset.lang === code));
  }
}
