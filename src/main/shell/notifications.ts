import type { ElectronModules } from './electron-faces.ts';
import { en } from './en.ts';
import type { EndedAnswer } from './running-answers.ts';

/** An answer that took longer than this, in ms, is one that a person went away from. */
const longAnswer = 20_000;

/** Tells who does not look that an answer is there. Says nothing of its text: others may see the screen. */
export function longAnswerNotification(
  { Notification }: Pick<ElectronModules, 'Notification'>,
  { message, tookMs }: EndedAnswer,
  show: () => void,
): void {
  if (tookMs <= longAnswer || message.status === 'stopped' || !Notification.isSupported()) return;
  const { title, text } = message.status === 'failed' ? en.answerFailed : en.answerReady;
  const notification = new Notification({ title, body: text });
  notification.on('click', show);
  notification.show();
}
