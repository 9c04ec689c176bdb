/** Requests of one client at a rate, as client-go's are. Watches take a token, too. Source: client-go, util/flowcontrol. */
import type { ApiHandler } from "../../contract/http-message.ts";
import type { Cancel, Process } from "../../kernel/types.ts";
import { type Rate, TokenBucket } from "./token-bucket.ts";

export type { Rate } from "./token-bucket.ts";

export function throttled(process: Process, server: ApiHandler, rate: Rate): ApiHandler {
  const bucket = new TokenBucket(rate);
  return {
    start(request, responder) {
      const wait = bucket.reserve(process.clock.nowMicros());
      if (wait === 0) return server.start(request, responder);
      let cancel: Cancel = process.clock.after(wait, () => {
        cancel = server.start(request, responder);
      });
      return () => cancel();
    },
  };
}
