import { describe, expect, it } from "vitest";
import { parseTokenFile } from "./token-file.ts";
import { UsageError } from "./usage-error.ts";

const refusal = (text: string): string => {
  try {
    parseTokenFile(text, "tokens.csv");
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message;
  }
  return "accepted";
};

describe("token file", () => {
  it("reads users with and without groups, quotes, comments, blank lines and Windows line ends", () => {
    const text =
      '\uFEFF# who may come in\r\ns3cret,alice,1001,"dev, ops"\r\n\r\ntoken-2,"bob ""the builder""",1002\r\nt3,carol,,system:masters';
    expect(parseTokenFile(text, "tokens.csv")).toEqual([
      { token: "s3cret", user: "alice", uid: "1001", groups: ["dev", "ops"] },
      { token: "token-2", user: 'bob "the builder"', uid: "1002", groups: [] },
      { token: "t3", user: "carol", uid: "", groups: ["system:masters"] },
    ]);
  });

  it.each([
    ["a,b", "line 1: found 2 of at least 3 fields."],
    ["a,b,c\nd,e,f,g,h", "line 2: found 5 fields"],
    [",b,c", "line 1: the token is empty."],
    ["a b,b,c", "line 1: the token contains white space"],
    ["a,,c", "line 1: the user is empty."],
    ["a,b,c\n\na,d,e", "line 3: the token is that of line 1 already."],
    ['a,b,c,"open', "line 1: a quote that is not closed"],
    ['a,b,c,op"en', "line 1: a quote that is not closed"],
    ["", "no token in it"],
    ["# nobody\n", "no token in it"],
  ])("refuses %j", (text, message) => {
    expect(refusal(text)).toContain(`--token-auth-file tokens.csv`);
    expect(refusal(text)).toContain(message);
  });
});
