import { useCallback, useEffect, useState } from 'react';
import { PanelLeft } from 'lucide-react';
import { ChatScreen, EnginePill, Sidebar, UndoToasts, type SearchRequest } from '../features/chat/index.ts';
import { MonitorPage, MonitorPanel, PanelToggle } from '../features/monitor/index.ts';
import { ServerPage } from '../features/server/index.ts';
import { useAppState, useSettings, useView } from '../state/index.ts';
import { IconButton, useMediaQuery } from '../ui/index.ts';
import { en } from './en.ts';
import { Pages } from './pages.tsx';

/** The sidebar, the page that is chosen in it, and what stands beside that page. */
export function Frame() {
  const { view } = useAppState();
  const page = useView((state) => state.page);
  const sidebar = useSidebar();
  const panel = usePanel();
  const search = useSearchKey(sidebar.show);
  const leading = (
    <IconButton
      label={sidebar.open ? en.hideSidebar : en.showSidebar}
      icon={<PanelLeft size={17} aria-hidden="true" />}
      aria-expanded={sidebar.open}
      onClick={sidebar.toggle}
    />
  );
  const openChat = () => {
    view.show('chat');
    sidebar.chosen();
  };
  return (
    <div className="frame">
      {sidebar.open ? (
        <Sidebar search={search} pages={<Pages onChosen={sidebar.chosen} />} onChosen={openChat} />
      ) : null}
      {page === 'monitor' ? (
        <MonitorPage leading={leading} pill={<EnginePill />} foot={<UndoToasts />} />
      ) : page === 'server' ? (
        <ServerPage leading={leading} pill={<EnginePill />} foot={<UndoToasts />} />
      ) : (
        <>
          <ChatScreen leading={leading} trailing={<PanelToggle open={panel.open} onToggle={panel.toggle} />} />
          {panel.open ? <MonitorPanel onOpenMonitor={() => view.show('monitor')} /> : null}
        </>
      )}
    </div>
  );
}

/** Open beside the chat where there is room, until a person decides otherwise in this tab. */
function usePanel() {
  const { view } = useAppState();
  const wide = useMediaQuery('(min-width: 1100px)');
  const open = useView((state) => state.panelOpen) ?? wide;
  return { open, toggle: () => view.setPanel(!open) };
}

/** Beside the page it is a setting; in a narrow window it lies over it, for as long as it is needed. */
function useSidebar() {
  const { settings } = useAppState();
  const narrow = useMediaQuery('(max-width: 760px)');
  const wanted = useSettings((state) => state.settings.sidebarOpen);
  const [over, setOver] = useState(false);
  const open = narrow ? over : wanted;
  const set = (value: boolean) => {
    if (narrow) setOver(value);
    else void settings.set({ sidebarOpen: value });
  };
  return {
    open,
    toggle: () => set(!open),
    show: () => (open ? undefined : set(true)),
    chosen: () => (narrow ? setOver(false) : undefined),
  };
}

function useSearchKey(show: () => void): SearchRequest {
  const [wanted, setWanted] = useState(false);
  const taken = useCallback(() => setWanted(false), []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== 'k')
        return;
      event.preventDefault();
      show();
      setWanted(true);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [show]);
  return { wanted, taken };
}
