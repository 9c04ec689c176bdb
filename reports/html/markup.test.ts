import { describe, expect, it } from "vitest";
import { markup } from "./markup.ts";

describe("markup", () => {
  it("escapes what is put into it, in text and in attributes", () => {
    const hostile = `"><script>alert('1')</script>&amp;`;
    expect(markup`<p title="${hostile}">${hostile}</p>`.markup).toBe(
      `<p title="${"&#34;&#62;&#60;script&#62;alert(&#39;1&#39;)&#60;/script&#62;&#38;amp;"}">&#34;&#62;&#60;script&#62;alert(&#39;1&#39;)&#60;/script&#62;&#38;amp;</p>`,
    );
  });

  it("nests, joins lists, and leaves out what is not there", () => {
    const items = ["a", "b"].map((text) => markup`<li>${text}</li>`);
    expect(markup`<ul>${items}${undefined}${false}</ul>${0}`.markup).toBe("<ul><li>a</li><li>b</li></ul>0");
  });

  it("has no place for characters that a document cannot hold", () => {
    expect(markup`${"a\u0000\u001b\ud800\tb"}`.markup).toBe("a\ufffd\ufffd\ufffd\tb");
  });
});
