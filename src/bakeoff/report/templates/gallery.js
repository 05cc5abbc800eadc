/* bakeoff */
// The list of a gallery. data.js has the cards; what is searched, filtered, sorted and paged stands in the address's
// fragment, so that a link leads to what is seen. Nothing is fetched, and text becomes text alone, never markup.
"use strict";
(() => {
  const PER_PAGE = 48; // Divisible by 2, 3 and 4, the columns that windows have room for.
  const FILTERS = ["kind", "workloads", "scenarios", "frameworks", "versions", "devices", "verdicts"];
  const STATE = ["q", ...FILTERS, "from", "to", "sort", "study", "page"];
  const ORDERS = {
    oldest: (one, other) => other.place - one.place,
    workload: (one, other) => order(one.workloads.join(), other.workloads.join()) || one.place - other.place,
    ratio: (one, other) => (other.ratio ?? 0) - (one.ratio ?? 0) || one.place - other.place,
  };
  const KINDS = { study: "study", reproduction: "reproduction", search: "largest batches", acceptance: "acceptance", explanation: "why" };

  const { fields, listed, words, rows } = window.GALLERY;
  const cards = rows.map(read);
  const bySlug = new Map(cards.map((card) => [card.slug, card]));
  const find = (id) => document.getElementById(id);
  const form = find("filters");
  let state = {};
  let shown = [];

  /** A row as an object; words that many cards share are told by their place in the list of words. */
  function read(row, place) {
    const card = { place };
    fields.forEach((field, index) => {
      const value = row[index];
      card[field] = !listed.includes(field) ? value : Array.isArray(value) ? value.map((one) => words[one]) : words[value];
    });
    card.verdicts = card.verdicts.map((word, index) => [word, card.counts[index]]);
    return card;
  }

  /** All that a search finds in a card, put together when it is searched first: most readers of a list only filter. */
  function text(card) {
    const said = [card.slug, card.kind, card.title, card.headline, card.created_at, ...card.scenarios, ...card.versions];
    card.text ??= [...said, ...card.workloads, ...card.devices, ...card.frameworks].join("\n").toLowerCase();
    return card.text;
  }

  function order(one, other) {
    return one < other ? -1 : one > other ? 1 : 0;
  }

  /** The values of a card by which one filter takes it or not. */
  function values(card, filter) {
    return filter === "kind" ? [card.kind] : filter === "verdicts" ? card.verdicts.map(([word]) => word) : card[filter];
  }

  // --- State -------------------------------------------------------------------------------------------------------

  function fromAddress() {
    let known;
    try {
      known = new URLSearchParams(location.hash.slice(1));
    } catch {
      known = new URLSearchParams();
    }
    state = Object.fromEntries(STATE.map((name) => [name, known.get(name) ?? ""]));
    for (const name of STATE) {
      const field = form.elements[name];
      if (!field) continue;
      field.value = state[name];
      if (field.value !== state[name]) state[name] = field.value; // A value that nothing here has.
    }
  }

  function toAddress() {
    const said = STATE.filter((name) => state[name]).map((name) => [name, state[name]]);
    const text = new URLSearchParams(said).toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  }

  function change(fresh) {
    state = { ...state, page: "", ...fresh };
    toAddress();
    show();
  }

  // --- What is shown -----------------------------------------------------------------------------------------------

  function matching() {
    const wanted = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    const isAsked = wanted.length || state.study || state.from || state.to || FILTERS.some((name) => state[name]);
    const found = cards.filter((card) => {
      if (card.study && !isAsked) return false; // Its study stands for it.
      if (state.study && card.study !== state.study && card.slug !== state.study) return false;
      const day = card.created_at.slice(0, 10);
      if ((state.from && !(day >= state.from)) || (state.to && !(day && day <= state.to))) return false;
      if (FILTERS.some((name) => state[name] && !values(card, name).includes(state[name]))) return false;
      return wanted.every((word) => text(card).includes(word));
    });
    return ORDERS[state.sort] ? found.sort(ORDERS[state.sort]) : found;
  }

  function show() {
    shown = matching();
    const last = Math.max(1, Math.ceil(shown.length / PER_PAGE));
    const page = Math.min(last, Math.max(1, Number.parseInt(state.page, 10) || 1));
    state.page = page === 1 ? "" : String(page);
    const hidden = shown.length < cards.length && !state.study ? cards.length - shown.length : 0;
    const first = (page - 1) * PER_PAGE;
    const range = last > 1 ? `, ${(first + 1).toLocaleString("en")} to ${Math.min(first + PER_PAGE, shown.length).toLocaleString("en")} of them here` : "";
    const all = hidden || state.study ? ` of ${cards.length.toLocaleString("en")}` : "";
    find("count").textContent = shown.length ? `${shown.length.toLocaleString("en")}${all} shown${range}` : "Nothing has all of this: take a filter away, or clear all.";
    find("within").replaceChildren(...about());
    find("cards").replaceChildren(...shown.slice(first, first + PER_PAGE).map(drawn));
    find("pages").hidden = last === 1;
    find("place").textContent = `Page ${page.toLocaleString("en")} of ${last.toLocaleString("en")}`;
    find("before").setAttribute("aria-disabled", String(page === 1));
    find("after").setAttribute("aria-disabled", String(page === last));
  }

  /** What is said of a study whose comparisons are shown, or of those that their studies stand for. */
  function about() {
    if (state.study) {
      const study = bySlug.get(state.study);
      return [node("span", `Only the study ${study ? study.title : state.study}. `), link("#", "Show everything")];
    }
    const parts = cards.filter((card) => card.study).length;
    const isAsked = state.q || state.from || state.to || FILTERS.some((name) => state[name]);
    return parts && !isAsked ? [node("span", `${parts.toLocaleString("en")} that are parts of studies are found by searching, or from their study.`)] : [];
  }

  function node(name, text = "", kind = "") {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  function link(address, text) {
    const made = node("a", text);
    made.href = address;
    return made;
  }

  function drawn(card) {
    const item = node("li", "", "card");
    const head = node("h2");
    head.append(link(`pages/${card.slug}/index.html`, card.headline));
    const facts = node("p", card.devices.join("; ") + (card.devices.length && card.created_at ? " · " : ""), "quiet");
    facts.append(node("time", card.created_at.replace("T", " ")));
    const badges = node("p");
    if (KINDS[card.kind]) badges.append(node("span", KINDS[card.kind], "badge"));
    for (const [word, count] of card.verdicts) badges.append(node("span", count > 1 ? `${count} ${word}` : word, "badge"));
    if (card.warnings) badges.append(node("span", card.warnings > 1 ? `${card.warnings} warnings` : "1 warning", "badge"));
    item.append(picture(card), head, node("p", card.title), facts, badges, ...parts(card));
    return item;
  }

  function picture(card) {
    if (!card.picture) return node("div", "no picture", "none");
    const made = new Image(card.width, card.height);
    made.loading = "lazy";
    made.decoding = "async";
    made.alt = card.picture;
    made.src = `pages/${card.slug}/card.svg`;
    return made;
  }

  /** The way from a study to its comparisons, and from one of them to its study. */
  function parts(card) {
    const study = card.study || (card.comparisons ? card.slug : "");
    if (!study || state.study) return [];
    const made = link(`#study=${encodeURIComponent(study)}`, card.study ? "Its study" : `Its ${card.comparisons} comparisons`);
    made.className = "part";
    return [made];
  }

  // --- Hands -------------------------------------------------------------------------------------------------------

  function turn(by) {
    const page = Number.parseInt(state.page, 10) || 1;
    const last = Math.ceil(shown.length / PER_PAGE);
    if (page + by < 1 || page + by > last) return false;
    change({ page: String(page + by) });
    heads()[by > 0 ? 0 : heads().length - 1]?.focus();
    return true;
  }

  function heads() {
    return [...document.querySelectorAll("#cards h2 a")];
  }

  /** Go from the card that has the focus to the one that an arrow points at, and over the page's edge. */
  function move(event) {
    const all = heads();
    const at = all.indexOf(document.activeElement);
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const top = (one) => one.closest(".card").offsetTop;
    const columns = all.filter((one) => top(one) === top(all[0])).length;
    const aims = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns, ArrowUp: at - columns, Home: 0, End: all.length - 1 };
    if (!(event.key in aims)) return;
    event.preventDefault();
    const aim = aims[event.key];
    if (all[aim]) all[aim].focus();
    else if (aim >= all.length) turn(1) || all[all.length - 1].focus();
    else if (!turn(-1) && event.key === "ArrowUp") find("q").focus();
  }

  function keys(event) {
    const isTyping = event.target.closest?.("input, select, textarea");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      find("q").focus();
      find("q").select();
    } else if (event.key === "ArrowDown" && event.target === find("q")) {
      event.preventDefault();
      heads()[0]?.focus();
    } else if (!isTyping) move(event);
  }

  /** Offer every value that a card has, with how many have it. */
  function offer(filter) {
    const counts = new Map();
    for (const card of cards) for (const value of new Set(values(card, filter))) counts.set(value, (counts.get(value) ?? 0) + 1);
    for (const value of [...counts.keys()].sort(order)) {
      const choice = node("option", `${value} (${counts.get(value).toLocaleString("en")})`);
      choice.value = value;
      form.elements[filter].append(choice);
    }
  }

  FILTERS.forEach(offer);
  form.addEventListener("input", (event) => change({ [event.target.name]: event.target.value }));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    state = Object.fromEntries(STATE.map((name) => [name, ""]));
    change({});
  });
  find("before").addEventListener("click", () => turn(-1));
  find("after").addEventListener("click", () => turn(1));
  document.addEventListener("keydown", keys);
  addEventListener("hashchange", () => {
    fromAddress();
    show();
  });
  fromAddress();
  show();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
