import { useCallback, useEffect, useMemo, useState } from 'react';
import { EndFollower } from '../../lib/end-follower.ts';

export interface FollowEnd {
  readonly following: boolean;
  readonly setScroller: (element: HTMLElement | Window | null) => void;
  /** The content's height has changed. */
  readonly grew: () => void;
  /** Goes to the end and stays there. */
  readonly toEnd: () => void;
}

/** Keeps the end of a scrolled list in view while the reader is there. */
export function useFollowEnd(): FollowEnd {
  const follower = useMemo(() => new EndFollower(), []);
  const [scroller, setElement] = useState<HTMLElement | null>(null);
  const [following, setFollowing] = useState(true);
  const grew = useCallback(() => {
    if (scroller !== null && follower.following) scroller.scrollTop = scroller.scrollHeight;
  }, [scroller, follower]);
  useEffect(() => {
    if (scroller === null) return;
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = scroller;
      follower.scrolled(scrollTop, scrollHeight - clientHeight - scrollTop);
      setFollowing(follower.following);
    };
    // The composer grows and the window changes: then the visible part ends elsewhere.
    const resized = new ResizeObserver(grew);
    resized.observe(scroller);
    scroller.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      resized.disconnect();
      scroller.removeEventListener('scroll', onScroll);
    };
  }, [scroller, follower, grew]);
  const toEnd = useCallback(() => {
    follower.follow();
    setFollowing(true);
    grew();
  }, [follower, grew]);
  const setScroller = useCallback((element: HTMLElement | Window | null) => {
    setElement(element instanceof HTMLElement ? element : null);
  }, []);
  return { following, setScroller, grew, toEnd };
}
