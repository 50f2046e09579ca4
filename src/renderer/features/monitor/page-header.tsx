import type { ReactNode } from 'react';
import { Braces, Download, Pause, Play, Sheet, Table2 } from 'lucide-react';
import { useAppState, useTelemetry } from '../../state/index.ts';
import { Button, Choice, MenuButton } from '../../ui/index.ts';
import { en } from './en.ts';
import { samplesCsv, samplesJson } from './export-samples.ts';
import { saveFile } from './save-file.ts';

interface PageHeaderProps {
  readonly leading: ReactNode;
  readonly pill: ReactNode;
  readonly table: boolean;
  readonly onTable: (table: boolean) => void;
}

const ranges = [
  { value: '60', label: en.ranges[60], icon: null },
  { value: '120', label: en.ranges[120], icon: null },
] as const;

export function PageHeader({ leading, pill, table, onTable }: PageHeaderProps) {
  const { telemetry } = useAppState();
  const range = useTelemetry((state) => state.range);
  const paused = useTelemetry((state) => state.paused);
  const PauseIcon = paused ? Play : Pause;
  return (
    <header className="page-header monitor-header">
      {leading}
      <h1>{en.title}</h1>
      <Choice
        label={en.range}
        value={range === 60 ? '60' : '120'}
        options={ranges}
        onChange={(value) => telemetry.setRange(value === '60' ? 60 : 120)}
      />
      <Button look="plain" aria-pressed={paused} title={en.pause} onClick={() => telemetry.setPaused(!paused)}>
        <PauseIcon size={14} aria-hidden="true" />
        <span className="header-word">{en.pause}</span>
      </Button>
      <Button look="plain" aria-pressed={table} title={en.table} onClick={() => onTable(!table)}>
        <Table2 size={14} aria-hidden="true" />
        <span className="header-word">{en.table}</span>
      </Button>
      <ExportMenu />
      <div className="page-pill">{pill}</div>
    </header>
  );
}

function ExportMenu() {
  const { telemetry } = useAppState();
  const save = (type: 'csv' | 'json') => {
    const { samples, marks } = telemetry.store.getState();
    const time = new Date(samples.at(-1)?.at ?? 0).toISOString().slice(0, 19).replaceAll(':', '-');
    const text = type === 'csv' ? samplesCsv(samples) : samplesJson(samples, marks);
    saveFile(en.fileName(time, type), type === 'csv' ? 'text/csv' : 'application/json', text);
  };
  return (
    <MenuButton
      label={en.exportData}
      icon={<Download size={14} aria-hidden="true" />}
      items={[
        { label: en.exportCsv, icon: <Sheet size={14} aria-hidden="true" />, onSelect: () => save('csv') },
        { label: en.exportJson, icon: <Braces size={14} aria-hidden="true" />, onSelect: () => save('json') },
      ]}
    />
  );
}
