// Starts the demos of a page: each element with the attribute data-demo is the place of one. This is a classic script because a browser
// loads no module into a page that was opened as a file.
(async () => {
  const here = document.currentScript.src;
  for (const place of document.querySelectorAll("[data-demo]")) {
    try {
      if (location.protocol === "file:") throw new Error("this page was opened as a file; serve its folder, say by python -m http.server");
      const demo = await import(new URL(`demo_${place.dataset.demo}.js`, here));
      await demo.start(place);
      place.dataset.state = "running";
    } catch (error) {
      place.dataset.state = "failed";
      place.textContent = `This demo needs a page from a server and WebAssembly with vectors: ${error.message}`;
    }
  }
})();
