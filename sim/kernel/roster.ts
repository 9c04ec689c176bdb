/**
 * Who is here at present, in the order of coming. To come and to go costs no hashing: requests do both several times each.
 */
export interface Seat<Member> {
  readonly member: Member;
  before: Seat<Member> | undefined;
  after: Seat<Member> | undefined;
  isTaken: boolean;
}

export class Roster<Member> {
  size = 0;
  private first: Seat<Member> | undefined;
  private last: Seat<Member> | undefined;

  /** The seat is what to leave by. */
  join(member: Member): Seat<Member> {
    const { last } = this;
    const seat: Seat<Member> = { member, before: last, after: undefined, isTaken: true };
    if (last === undefined) this.first = seat;
    else last.after = seat;
    this.last = seat;
    this.size++;
    return seat;
  }

  /** A no-op for who has left already. */
  leave(seat: Seat<Member>): void {
    if (!seat.isTaken) return;
    const { before, after } = seat;
    seat.isTaken = false;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.last = before;
    else after.before = before;
    seat.before = undefined;
    seat.after = undefined;
    this.size--;
  }

  /** A copy: whoever is told may leave, or bring others. */
  members(): readonly Member[] {
    const members: Member[] = [];
    for (let seat = this.first; seat !== undefined; seat = seat.after) members.push(seat.member);
    return members;
  }

  clear(): void {
    for (let seat = this.first; seat !== undefined; seat = this.first) this.leave(seat);
  }
}
