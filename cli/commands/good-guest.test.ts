/** Tests of `good-guest.fixture.ts`, by which plays of the suite are held to change only what is their own. */
import { expect, it } from "vitest";
import { type GuestBook, isOwn, noting } from "./good-guest.fixture.ts";

it("knows its own from others'", () => {
  for (const path of [
    "/api/v1/namespaces/touchstone-guest-1",
    "/api/v1/namespaces/touchstone-guest-12-real/configmaps",
    "/apis/a.io/v1/crds/widgets.touchstone-guest-1.example.com",
  ]) {
    expect(isOwn(path, "guest")).toBe(true);
  }
  for (const path of [
    "/api/v1/namespaces",
    "/api/v1/namespaces/default",
    "/api/v1/namespaces/default/configmaps/a",
    "/api/v1/namespaces/touchstone-other-1",
  ]) {
    expect(isOwn(path, "guest")).toBe(false);
  }
});

it("notes what is asked about others' things", () => {
  const book: GuestBook = { asked: 0, others: new Set() };
  const transport = noting(book, "c", "guest", { open: () => () => {}, close: async () => {} });
  const sink = { head() {}, chunk() {}, end() {}, failed() {} };
  const ask = (method: string, path: string, body?: string): void => {
    transport.open({ method, path, headers: {}, ...(body === undefined ? {} : { body }) }, sink);
  };
  ask("GET", "/api/v1/namespaces/default");
  ask("DELETE", "/api/v1/namespaces/touchstone-guest-1/pods/a");
  ask("DELETE", "/api/v1/namespaces/default/pods?labelSelector=touchstone-guest-1");
  ask("POST", "/api/v1/namespaces", '{"metadata":{"name":"touchstone-guest-2"}}');
  ask("POST", "/api/v1/namespaces", '{"metadata":{"name":"mine"}}');
  ask("POST", "/apis/authorization.svc.io/v1/selfsubjectaccessreviews", "{}");
  expect([book.asked, ...book.others]).toEqual([
    2,
    "c: DELETE /api/v1/namespaces/default/pods?labelSelector=touchstone-guest-1",
    "c: POST /api/v1/namespaces of mine",
  ]);
});
