/** Planted bugs of image collection: each puts decisions of its own in the place of those that are right. */
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type DecisionBugs, decisionsWith } from "../../planted/planting.ts";
import { type ImageLaw, imageLaw } from "../images/image-records.ts";

const bugsOfImages = {
  "imagegc-lru-wrong": ({ compareUse }) => ({
    compareUse: (left, right) => -compareUse(left, right),
    isYoung: () => false,
  }),
  "imagegc-deletes-sandbox": () => ({ mayGo: ({ inUse }) => !inUse }),
  "imagegc-overshoots-low": () => ({ bytesFreed: () => Infinity }),
} as const satisfies DecisionBugs<AgentBugName, ImageLaw>;

export const imageLawWith: (bugs: AgentBugs) => () => ImageLaw = decisionsWith(imageLaw, bugsOfImages);
