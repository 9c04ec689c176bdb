/** Whether a request's answer is a stream: by its query, or by a path of the old form, `/api/v1/watch/pods`. */
export function asksForWatch(path: string): boolean {
  const [bare = "", query = ""] = path.split("?", 2);
  return /(^|&)watch=(?!(0|false)(&|$))/.test(query) || /^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)\/watch\//.test(bare);
}
