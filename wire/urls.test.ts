import { expect, test } from "vitest";
import { parseUrl } from "./urls.ts";

test("parts", () => {
  expect(parseUrl("HTTPS://u:p@Host:8443/a/b?c=d#e")).toEqual({
    scheme: "https",
    user: "u:p",
    host: "Host:8443",
    path: "/a/b",
    query: "c=d",
    fragment: "e",
  });
  expect(parseUrl("dns://collector:4317")).toMatchObject({ scheme: "dns", host: "collector:4317", path: "" });
  expect(parseUrl("unix:///run/x.sock")).toMatchObject({ scheme: "unix", host: "", path: "/run/x.sock" });
  expect(parseUrl("https://[::1]:443/")).toMatchObject({ host: "[::1]:443" });
});

/** The texts of Go's parser. */
test.each([
  ["http://::bad", 'invalid port ":bad" after host'],
  ["https://a:b", 'invalid port ":b" after host'],
  ["https://[::1", "missing ']' in host"],
  ["https://a b/", 'invalid character " " in host name'],
  ["https://a/%zz", 'invalid URL escape "%zz"'],
  [":foo", "missing protocol scheme"],
  ["1a:b", "first path segment in URL cannot contain colon"],
  ["https://a/\n", "net/url: invalid control character in URL"],
  ["https://a<b@c", "net/url: invalid userinfo"],
])("%j", (text, why) => {
  expect(parseUrl(text)).toEqual({ error: expect.stringContaining(why) });
});
