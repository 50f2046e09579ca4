import { useRef } from 'react';

/** The value of an earlier render for as long as `same` holds, so that what is drawn from it is not drawn again. */
export function useSteady<T>(value: T, same: (one: T, other: T) => boolean): T {
  const kept = useRef(value);
  if (kept.current !== value && !same(kept.current, value)) kept.current = value;
  return kept.current;
}
