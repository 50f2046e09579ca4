import { describe, expect, it } from 'vitest';
import { EndFollower } from '../../../src/renderer/lib/end-follower.ts';

describe('EndFollower', () => {
  it('lets go at the smallest move up, even near the end (bug: a touchpad scroll is pulled back at each token)', () => {
    const follower = new EndFollower();
    follower.scrolled(500, 0);
    follower.scrolled(497, 3);
    expect(follower.following).toBe(false);
  });

  it('stays gone while text grows below (bug: the reader is thrown to the end)', () => {
    const follower = new EndFollower();
    follower.scrolled(500, 0);
    follower.scrolled(400, 100);
    for (const distance of [160, 220, 300]) follower.scrolled(400, distance);
    expect(follower.following).toBe(false);
  });

  it('takes hold again when the reader comes back down (bug: one must hit the last pixel)', () => {
    const follower = new EndFollower();
    follower.scrolled(500, 0);
    follower.scrolled(300, 200);
    follower.scrolled(480, 20);
    expect(follower.following).toBe(true);
  });

  it('holds on when text grows and when a shorter version takes its place (bug: following ends by itself)', () => {
    const follower = new EndFollower();
    follower.scrolled(500, 0);
    follower.scrolled(500, 80);
    expect(follower.following).toBe(true);
    follower.scrolled(120, 0);
    expect(follower.following).toBe(true);
  });

  it('goes to the end on demand (bug: the own message stays below the screen)', () => {
    const follower = new EndFollower();
    follower.scrolled(500, 0);
    follower.scrolled(100, 400);
    follower.follow();
    expect(follower.following).toBe(true);
  });
});
