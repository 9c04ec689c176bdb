import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Roster, type Seat } from "./roster.ts";

describe("a roster", () => {
  it("has those who came and have not left, in the order of coming", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 20 }), { maxLength: 60 }), (program) => {
        const roster = new Roster<number>();
        const seats: Seat<number>[] = [];
        let model: number[] = [];
        for (const [step, what] of program.entries()) {
          if (what % 2 === 0 || seats.length === 0) {
            seats.push(roster.join(step));
            model.push(step);
          } else {
            // Some leave twice.
            const seat = seats[what % seats.length] as Seat<number>;
            roster.leave(seat);
            model = model.filter((member) => member !== seat.member);
          }
          expect([roster.members(), roster.size]).toEqual([model, model.length]);
        }
        roster.clear();
        expect([roster.members(), roster.size]).toEqual([[], 0]);
        for (const seat of seats) roster.leave(seat);
        expect(roster.size).toBe(0);
      }),
      { seed: 11, numRuns: 300 },
    );
  });
});
