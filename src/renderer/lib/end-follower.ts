/** Pixels from the end that count as having come back to it. */
const nearEnd = 24;

/**
 * Whether a growing list keeps its end in view. The smallest move up lets go, so that the view never fights the reader;
 * coming near the end again takes hold.
 */
export class EndFollower {
  #following = true;
  #lastTop = 0;

  get following(): boolean {
    return this.#following;
  }

  /** The end is wanted now, wherever the reader was. */
  follow(): void {
    this.#following = true;
  }

  /** After each scroll event. `top` and `distance` (to the end) in pixels. */
  scrolled(top: number, distance: number): void {
    const movedUp = top < this.#lastTop;
    this.#lastTop = top;
    if (movedUp && distance > 1) this.#following = false;
    else if (distance <= nearEnd) this.#following = true;
  }
}
