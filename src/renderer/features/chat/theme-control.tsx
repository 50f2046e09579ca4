import { Monitor, Moon, Sun } from 'lucide-react';
import { useAppState, useSettings } from '../../state/index.ts';
import { Choice } from '../../ui/index.ts';
import { en } from './en.ts';

const options = [
  { value: 'system', label: en.themes.system, icon: <Monitor size={13} aria-hidden="true" /> },
  { value: 'light', label: en.themes.light, icon: <Sun size={13} aria-hidden="true" /> },
  { value: 'dark', label: en.themes.dark, icon: <Moon size={13} aria-hidden="true" /> },
] as const;

export function ThemeControl() {
  const { settings } = useAppState();
  const theme = useSettings((state) => state.settings.theme);
  return (
    <div className="sidebar-foot">
      <Choice
        label={en.theme}
        value={theme}
        options={options}
        onChange={(value) => void settings.set({ theme: value })}
      />
    </div>
  );
}
