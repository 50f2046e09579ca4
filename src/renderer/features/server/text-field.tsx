import { useId } from 'react';

interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  /** What is wrong with the value; takes the place of the hint. */
  readonly problem?: string | null;
  readonly password?: boolean;
  readonly numeric?: boolean;
  readonly maxLength?: number;
}

/** A labelled field with its hint, or what is wrong, under it. */
export function TextField(props: TextFieldProps) {
  const { label, value, onChange, hint, problem = null, password = false, numeric = false, maxLength = 2000 } = props;
  const id = useId();
  const below = problem ?? hint ?? null;
  return (
    <div className="server-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="field"
        type={password ? 'password' : 'text'}
        inputMode={numeric ? 'numeric' : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={maxLength}
        value={value}
        aria-invalid={problem !== null}
        aria-describedby={below === null ? undefined : `${id}-below`}
        onChange={(event) => onChange(event.target.value)}
      />
      {below === null ? null : (
        <p id={`${id}-below`} className={problem === null ? 'server-hint' : 'server-problem'}>
          {below}
        </p>
      )}
    </div>
  );
}
