import { useConnection } from '../state/index.ts';
import { ConnectionBanner } from './connection-banner.tsx';
import { Frame } from './frame.tsx';
import { Notices } from './notices.tsx';
import { RefusedPage } from './refused-page.tsx';

export function App() {
  const refused = useConnection(({ connection }) => connection === 'refused');
  if (refused) return <RefusedPage />;
  return (
    <div className="app">
      <ConnectionBanner />
      <Notices />
      <Frame />
    </div>
  );
}
