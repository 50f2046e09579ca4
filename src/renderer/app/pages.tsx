import { Activity, MessageSquare, Server } from 'lucide-react';
import { useAppState, useView, type PageName } from '../state/index.ts';
import { en } from './en.ts';

const pages = [
  { name: 'chat', label: en.chat, icon: MessageSquare },
  { name: 'monitor', label: en.monitor, icon: Activity },
  { name: 'server', label: en.server, icon: Server },
] as const satisfies readonly { readonly name: PageName; readonly label: string; readonly icon: unknown }[];

/** The way between the pages. */
export function Pages({ onChosen }: { readonly onChosen: () => void }) {
  const { view } = useAppState();
  const current = useView((state) => state.page);
  return (
    <nav className="pages" aria-label={en.pages}>
      {pages.map(({ name, label, icon: Icon }) => (
        <button
          key={name}
          type="button"
          className="page-link"
          aria-current={name === current ? 'page' : undefined}
          onClick={() => {
            view.show(name);
            onChosen();
          }}
        >
          <Icon size={15} aria-hidden="true" />
          {label}
        </button>
      ))}
    </nav>
  );
}
