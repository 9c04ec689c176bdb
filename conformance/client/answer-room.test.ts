import { expect, it } from "vitest";
import { AnswerRoom } from "./answer-room.ts";

it("loses the answer that holds most, and no other, when all together hold too much", () => {
  const lost: string[] = [];
  const room = new AnswerRoom(100);
  const [small, large, late] = ["small", "large", "late"].map((name) =>
    room.enter((why) => lost.push(`${name}: ${why}`)),
  );
  small?.take(30);
  large?.take(60);
  late?.take(10);
  expect(lost).toEqual([]);
  late?.take(1);
  expect(lost).toEqual([expect.stringMatching(/^large: the answers under way bring more than 128 MiB in all/)]);
  large?.take(1000); // it is gone
  late?.take(59);
  expect(lost).toHaveLength(1);
  late?.leave();
  late?.leave();
  small?.take(70);
  expect(lost).toHaveLength(1);
  small?.take(1);
  expect(lost[1]).toMatch(/^small: /);
});
