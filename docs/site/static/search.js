/* The search dialog: Pagefind's interface, loaded when it is opened first. docs/site/search.py makes the index. */

/* How Pagefind orders what it finds; tests/python/site_search.mjs reads this line, too. */
const RANKING = {"termSimilarity": 4, "pageLength": 0.05, "termSaturation": 2};

addEventListener("DOMContentLoaded", () => {
  const dialog = Object.assign(document.createElement("dialog"), {id: "site-search", ariaLabel: "Search"});
  document.body.append(dialog);
  const root = document.documentElement.dataset.content_root;
  const here = (url) => root + url.replace(/^\//, "");

  const load = () => {
    if (location.protocol === "file:") {  // browsers refuse to read an index there
      dialog.textContent = "The search needs a server: ./dev docs --serve, or python -m http.server in the site's folder.";
      return;
    }
    const style = Object.assign(document.createElement("link"), {rel: "stylesheet", href: root + "pagefind/pagefind-ui.css"});
    const script = Object.assign(document.createElement("script"), {src: root + "pagefind/pagefind-ui.js"});
    document.head.append(style, script);
    script.onload = () => {
      new PagefindUI({
        element: dialog, bundlePath: new URL(root + "pagefind/", location.href).pathname, baseUrl: "/", showImages: false, showSubResults: true,
        excerptLength: 24, pageSize: 8, resetStyles: false, ranking: RANKING,
        translations: {placeholder: "Search the documentation", zero_results: "Nothing has the words [SEARCH_TERM]"},
        processResult: (result) => {
          result.url = here(result.url);
          for (const part of result.sub_results ?? []) part.url = here(part.url);
          return result;
        },
      });
      dialog.querySelector("input").focus();
    };
  };

  const open = () => {
    dialog.showModal();
    if (!dialog.childNodes.length) load();
    dialog.querySelector("input")?.focus();
  };
  for (const button of document.querySelectorAll(".site-search-button")) button.addEventListener("click", open);
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      if (dialog.open) dialog.close(); else open();
    }
  });
});
