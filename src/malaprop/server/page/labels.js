// Places labels of a picture so that none covers another: by the same rule each time, and by public words alone.

/** Guess half the width of a word in letters of a size. */
export const halfWidth = (word, size) => word.length * size * 0.3;

/**
 * Push boxes apart that cover each other, and into the frame [left, top, right, bottom]. The first stays.
 * `at` has the middles, `halves` half of each width and height, gaps included. Returns new middles.
 */
export function apart(at, halves, [left, top, right, bottom]) {
  const places = at.map((place) => [...place]);
  for (let round = 0, moved = true; moved && round < 200; round++) {
    moved = false;
    places.forEach((own, i) => places.slice(0, i).forEach((other, j) => {
      const over = [0, 1].map((axis) => halves[i][axis] + halves[j][axis] - Math.abs(own[axis] - other[axis]));
      if (Math.min(...over) <= 0.01) return;
      moved = true;
      const axis = over[0] < over[1] ? 0 : 1;
      const push = ((own[axis] < other[axis] ? -1 : 1) * over[axis]) / (j ? 2 : 1);
      own[axis] += push;
      if (j) other[axis] -= push;
    }));
    places.slice(1).forEach((place, i) => {
      const [across, down] = halves[i + 1];
      place[0] = Math.min(right - across, Math.max(left + across, place[0]));
      place[1] = Math.min(bottom - down, Math.max(top + down, place[1]));
    });
  }
  return places;
}
