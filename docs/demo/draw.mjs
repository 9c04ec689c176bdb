// Lanes over virtual time on a canvas: messages as lines, what goes wrong as bands.

export const rowHeight = 30;
export const headHeight = 26;
const signColours = { "+": "good", "~": "good", "-": "good", E: "bad", G: "bad", "!": "bad", F: "bad", "^": "good" };

/** `picked`: names of lanes. `windowMicros`: how much of the past is seen. */
export function draw(canvas, { lanes, entries, messages, faults, nowMicros, failure, picked, windowMicros }) {
  const ratio = globalThis.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = headHeight + rowHeight * lanes.length;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
  }
  const paper = canvas.getContext("2d");
  const style = getComputedStyle(canvas);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  paper.setTransform(ratio, 0, 0, ratio, 0, 0);
  paper.clearRect(0, 0, width, height);
  paper.font = "13px system-ui, sans-serif";
  paper.textBaseline = "middle";
  const labels = 16 + lanes.reduce((most, { name }) => Math.max(most, paper.measureText(name).width), 60);
  const from = Math.max(0, nowMicros - windowMicros);
  const x = (micros) => labels + ((micros - from) / windowMicros) * (width - labels - 8);
  const rows = new Map(lanes.map(({ name }, index) => [name, headHeight + rowHeight * (index + 0.5)]));
  const isSeen = (micros) => micros >= from;

  // What has no end was over at once.
  for (const { places, what, fromMicros, toMicros = fromMicros } of faults) {
    if (toMicros < from || toMicros <= fromMicros) continue;
    paper.fillStyle = colour("band");
    const left = Math.max(labels, x(fromMicros));
    for (const place of places) {
      const y = rows.get(place);
      if (y === undefined) continue;
      paper.fillRect(left, y - rowHeight / 2 + 2, Math.max(2, x(toMicros) - left), rowHeight - 4);
      paper.fillStyle = colour("quiet");
      paper.fillText(what, left + 4, y - 7);
      paper.fillStyle = colour("band");
    }
  }

  for (const [name, y] of rows) {
    paper.fillStyle = picked.includes(name) ? colour("picked") : colour("text");
    paper.fillText(name, 8, y);
    paper.strokeStyle = picked.includes(name) ? colour("picked") : colour("line");
    paper.lineWidth = picked.includes(name) ? 2 : 1;
    line(paper, labels, y, width - 8, y);
  }

  paper.save();
  paper.beginPath();
  paper.rect(labels, 0, width - labels, height);
  paper.clip();
  for (const { from: sender, to, sentMicros, arrivesMicros } of messages) {
    const [one, other] = [rows.get(sender), rows.get(to)];
    if (one === undefined || other === undefined || !isSeen(arrivesMicros ?? sentMicros)) continue;
    const isLost = arrivesMicros === undefined;
    paper.strokeStyle = colour(isLost ? "bad" : "message");
    paper.lineWidth = 1;
    // A lost one ends half-way.
    if (isLost) line(paper, x(sentMicros), one, x(sentMicros) + 6, (one + other) / 2);
    else line(paper, x(sentMicros), one, x(arrivesMicros), other);
  }
  for (const { atMicros, lane, sign } of entries) {
    const y = rows.get(lane);
    if (y === undefined || !isSeen(atMicros)) continue;
    paper.fillStyle = colour(signColours[sign] ?? "event");
    paper.beginPath();
    paper.arc(x(atMicros), y, sign === "!" ? 5 : 2.5, 0, 2 * Math.PI);
    paper.fill();
  }
  if (failure !== undefined && isSeen(failure.atMicros)) {
    paper.strokeStyle = colour("bad");
    paper.lineWidth = 2;
    line(paper, x(failure.atMicros), headHeight, x(failure.atMicros), height);
  }
  paper.restore();

  paper.fillStyle = colour("quiet");
  const step = stepOf(windowMicros, (width - labels) / 64);
  for (let at = Math.ceil(from / step) * step; at <= from + windowMicros; at += step) {
    const label = `${at / 1_000_000} s`;
    if (x(at) + 2 + paper.measureText(label).width <= width) paper.fillText(label, x(at) + 2, headHeight / 2);
  }
}

function line(paper, fromX, fromY, toX, toY) {
  paper.beginPath();
  paper.moveTo(fromX, fromY);
  paper.lineTo(toX, toY);
  paper.stroke();
}

/** Round times, and no more of them than there is room for. */
const stepOf = (windowMicros, countMax) =>
  [100_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 30_000_000].find(
    (step) => windowMicros / step <= Math.min(12, countMax),
  ) ?? 60_000_000;
