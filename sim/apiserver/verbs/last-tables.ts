/** The tables that watches were told last: most watches of a resource show the same of an event. */
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import type { WatchEventType } from "../reads/types.ts";

/** What decides how an event looks as a table. */
export interface AskedTable {
  readonly type: WatchEventType;
  readonly object: JsonObject;
  /** Who shows it, in which representation. */
  readonly resource: object;
  readonly kind: string;
  /** With the columns, as the first event of a watch has them. */
  readonly headers: boolean;
  /** Ages are told to the second. */
  readonly nowSeconds: number;
}

interface Kept {
  readonly asked: AskedTable;
  readonly payload: Payload;
}

export class LastTables {
  private withHeaders: Kept | undefined;
  private without: Kept | undefined;

  of(asked: AskedTable, make: () => Payload): Payload {
    const last = asked.headers ? this.withHeaders : this.without;
    if (last !== undefined && isSame(last.asked, asked)) return last.payload;
    const payload = make();
    if (asked.headers) this.withHeaders = { asked, payload };
    else this.without = { asked, payload };
    return payload;
  }
}

const isSame = (one: AskedTable, other: AskedTable): boolean =>
  one.object === other.object &&
  one.type === other.type &&
  one.resource === other.resource &&
  one.kind === other.kind &&
  one.nowSeconds === other.nowSeconds;
