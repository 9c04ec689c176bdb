/**
 * What answers that are under way hold in memory, all together: requests go out many at a time, and whoever answers decides how
 * much each of them brings. A watch is under way as long as it is open.
 */

/** Of all that have not ended. */
const heldBytesMax = 128 * 1024 * 1024;

const tooMuch = `the answers under way bring more than ${heldBytesMax / 1024 / 1024} MiB in all, and this one most of them`;

export class AnswerRoom {
  private readonly places = new Set<AnswerPlace>();
  private readonly bytesMax: number;
  private bytes = 0;

  constructor(bytesMax = heldBytesMax) {
    this.bytesMax = bytesMax;
  }

  /** `lose` is called once at most, when this answer has to go for the others' sake. */
  enter(lose: (why: string) => void): AnswerPlace {
    const place: AnswerPlace = {
      bytes: 0,
      take: (bytes) => {
        if (!this.places.has(place)) return;
        place.bytes += bytes;
        this.bytes += bytes;
        if (this.bytes > this.bytesMax) this.largest().lose(tooMuch);
      },
      leave: () => {
        if (this.places.delete(place)) this.bytes -= place.bytes;
      },
      lose(why) {
        place.leave();
        lose(why);
      },
    };
    this.places.add(place);
    return place;
  }

  private largest(): AnswerPlace {
    return [...this.places].reduce((one, other) => (other.bytes > one.bytes ? other : one));
  }
}

export interface AnswerPlace {
  bytes: number;
  /** So many bytes more have come. */
  take(bytes: number): void;
  /** It has ended. May be called again. */
  leave(): void;
  lose(why: string): void;
}
