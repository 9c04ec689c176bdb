/** What a comparison of two servers can be about. Apart from the programs, so that a command line loads it at no cost. */
export const topicNames = [
  "objects",
  "types",
  "patches",
  "apply",
  "deletion",
  "lists",
  "watches",
  "validation",
  "representations",
  "errors",
  "discovery",
  "pods",
  "namespaces",
  "events",
  "access",
  "custom",
] as const;
export type TopicName = (typeof topicNames)[number];
