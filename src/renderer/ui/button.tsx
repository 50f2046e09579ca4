import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className' | 'style'> & {
  readonly look?: 'main' | 'quiet' | 'plain';
  readonly ref?: Ref<HTMLButtonElement>;
};

export function Button({ look = 'quiet', type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`button button-${look}`} {...rest} />;
}

type IconButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className' | 'style' | 'children'> & {
  /** Accessible name, also shown as the tooltip. */
  readonly label: string;
  readonly icon: ReactNode;
  readonly small?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
};

export function IconButton({ label, icon, small = false, type = 'button', ...rest }: IconButtonProps) {
  const className = small ? 'icon-button icon-button-small' : 'icon-button';
  return (
    <button type={type} className={className} aria-label={label} title={label} {...rest}>
      {icon}
    </button>
  );
}
