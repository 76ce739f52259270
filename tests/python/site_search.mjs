// What the search of the documentation site finds, by the script that browsers run.
//     node site_search.mjs SITE QUERY...    prints for each query the names of the pages found, the best first, as JSON
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

const [folder, ...queries] = process.argv.slice(2);
const site = resolve(folder);
const server = createServer(async (request, response) => {
  try {
    response.end(await readFile(site + decodeURIComponent(request.url.split("?")[0])));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

const settings = await readFile(new URL("../../docs/site/static/search.js", import.meta.url), "utf8");
const ranking = JSON.parse(settings.match(/const RANKING = (\{.*?\});/)[1]);
const pagefind = await import(site + "/pagefind/pagefind.js");
await pagefind.options({ basePath: `http://127.0.0.1:${server.address().port}/pagefind/`, baseUrl: "/", ranking });

const found = [];
for (const query of queries) {
  const { results } = await pagefind.search(query);
  const pages = await Promise.all(results.slice(0, 5).map((result) => result.data()));
  found.push(pages.map((page) => new URL(page.url, "http://site").pathname.slice(1).replace(/\.html$/, "")));
}
console.log(JSON.stringify(found));
server.close();
process.exit(0);
