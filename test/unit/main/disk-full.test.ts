import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ChatBench } from '../../support/chat-service.ts';
import { temporaryFolder } from '../../support/temp-folder.ts';

/** A file system of 256 KB, or the reason why there is none. */
function smallDisk(): { readonly folder: string } | { readonly reason: string } {
  const folder = join(temporaryFolder(), 'small');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return { reason: 'skipped: only root can mount a small file system' };
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return { folder };
}

it('a full disk refuses the message in words, loses nothing, and goes on when there is room', async (context) => {
  const disk = smallDisk();
  if ('reason' in disk) return context.skip(disk.reason);
  const bench = await ChatBench.open(disk.folder);
  const { conversationId } = await bench.exchange('One', 'a');
  const filler = join(disk.folder, 'filler');
  let size = 256 * 1024;
  for (; size >= 512; size /= 2) {
    try {
      writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
    } catch {
      // As much as fits.
    }
  }
  const refused = await bench.chat.send({ conversationId, text: 'Two '.repeat(3000) });
  expect(refused).toMatchObject({ ok: false, error: { code: 'storage_failed' } });
  expect(refused.ok ? '' : refused.error.message).toContain('full');
  expect(await bench.messages(conversationId)).toHaveLength(2);
  rmSync(filler);
  await bench.exchange('Two', 'b', conversationId);
  await bench.close();
  const again = await ChatBench.open(disk.folder, 'x');
  expect((await again.messages(conversationId)).map(({ text }) => text)).toEqual(['One', 'a', 'Two', 'b']);
  expect(again.notices).toEqual([]);
  expect(readFileSync(join(disk.folder, 'conversations', `${conversationId}.jsonl`)).includes(0)).toBe(false);
});
