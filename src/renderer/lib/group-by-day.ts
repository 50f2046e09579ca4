export type DayGroup = 'today' | 'yesterday' | 'week' | 'older';

const order: readonly DayGroup[] = ['today', 'yesterday', 'week', 'older'];

/** Groups by local calendar days as seen at `now` (Unix ms), keeping the order inside each group; empty groups are left out. */
export function groupByDay<T>(
  items: readonly T[],
  timeOf: (item: T) => number,
  now: number,
): readonly { readonly group: DayGroup; readonly items: readonly T[] }[] {
  const groups = new Map<DayGroup, T[]>();
  for (const item of items) {
    const group = dayGroup(timeOf(item), now);
    groups.set(group, [...(groups.get(group) ?? []), item]);
  }
  return order.flatMap((group) => {
    const found = groups.get(group);
    return found === undefined ? [] : [{ group, items: found }];
  });
}

function dayGroup(time: number, now: number): DayGroup {
  if (time >= startOfDay(now, 0)) return 'today';
  if (time >= startOfDay(now, 1)) return 'yesterday';
  return time >= startOfDay(now, 6) ? 'week' : 'older';
}

// Through the calendar, not by 24 hours: days with a clock change are longer or shorter.
function startOfDay(now: number, daysBack: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - daysBack).getTime();
}
