import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Names of axe's serious and critical findings. The page's policy forbids inline scripts; evaluate runs outside of it. */
export async function accessFaults(page: Page): Promise<string[]> {
  // Colours on their way to others are nobody's design.
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every((animation) => !(animation instanceof CSSTransition) || animation.playState === 'finished'),
  );
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}
