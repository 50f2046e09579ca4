export type DayGroup = 'today' | 'yesterday' | 'week' | 'older';

const order: readonly DayGroup[] = ['today', 'yesterday', 'week', 'older'];

/** Groups by local calendar days as seen at `now` (Unix ms), keeping the order inside each group; empty groups are left out. */
export function groupByDay<T>(
  items: readonly T[],
  timeOf: (item: T) => number,
  now: number,
): readonly { readonly group: DayGroup; readonly items: readonly T[] }[] {
  const dayStarts = [startOfDay(now, 0), startOfDay(now, 1), startOfDay(now, 6)];
  const groups = new Map<DayGroup, T[]>();
  for (const item of items) {
    const time = timeOf(item);
    const found = dayStarts.findIndex((start) => time >= start);
    const group = (found === -1 ? undefined : order[found]) ?? 'older';
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [item]);
    else known.push(item);
  }
  return order.flatMap((group) => {
    const found = groups.get(group);
    return found === undefined ? [] : [{ group, items: found }];
  });
}

// Through the calendar, not by 24 hours: days with a clock change are longer or shorter.
function startOfDay(now: number, daysBack: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - daysBack).getTime();
}
