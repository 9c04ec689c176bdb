import { expect, it } from "vitest";
import { Exchange } from "../client/exchange.ts";
import { shownExchange } from "./shown-exchange.ts";

function exchange(method: string, status: number, body: string): Exchange {
  const made = new Exchange(0, { method, path: "/", headers: {} }, 0, 0);
  made.status = status;
  made.keep(new TextEncoder().encode(body));
  return made;
}

const deletion = exchange("DELETE", 200, '{"kind":"Status"}');
const read = exchange("GET", 404, '{"kind":"Status","code":404}');

it.each<[what: string, actual: string, shown: Exchange]>([
  ["the answer that is told", '200 {"kind":"Status"}', deletion],
  ["the answer that is told after a colon", '200: {"kind"', deletion],
  ["the last, when its answer is told", "404 NotFound", read],
  ["the last, when nothing was answered so", '409 {"kind":"Status"}', read],
  ["the last, when another body is told", '200 {"kind":"List"}', read],
  ["the last, when no answer is told", "version 5", read],
  ["the last, when a status alone says too little", "200", read],
])("shows %s", (_what, actual, shown) => {
  expect(shownExchange([deletion, read], read, actual)).toBe(shown);
});
