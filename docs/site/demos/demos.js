// Starts the demos of a page: each element with the attribute data-demo is the place of one.
for (const place of document.querySelectorAll("[data-demo]")) {
  try {
    const demo = await import(`./demo_${place.dataset.demo}.js`);
    await demo.start(place);
    place.dataset.state = "running";
  } catch (error) {
    place.dataset.state = "failed";
    place.textContent = `This demo needs WebAssembly with vectors: ${error.message}`;
  }
}
