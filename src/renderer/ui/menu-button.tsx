import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { IconButton } from './button.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon: ReactNode;
  readonly bad?: boolean;
  readonly onSelect: () => void;
}

interface MenuButtonProps {
  readonly label: string;
  readonly icon: ReactNode;
  readonly items: readonly MenuItem[];
}

/** A button with a menu that lies above everything, so that no scrolled list cuts it off. */
export function MenuButton({ label, icon, items }: MenuButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const close = (refocus: boolean) => {
    setOpen(false);
    if (refocus) button.current?.focus();
  };
  return (
    <>
      <IconButton
        ref={button}
        small
        label={label}
        icon={icon}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      />
      {open ? createPortal(<Menu label={label} items={items} anchor={button} onClose={close} />, document.body) : null}
    </>
  );
}

interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly anchor: { readonly current: HTMLElement | null };
  readonly onClose: (refocus: boolean) => void;
}

function Menu({ label, items, anchor, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  usePlace(menu, anchor);
  useCloseOutside(menu, anchor, onClose);
  const onKeyDown = (event: KeyboardEvent) => {
    const entries = [...(menu.current?.querySelectorAll('button') ?? [])];
    const at = entries.findIndex((entry) => entry === document.activeElement);
    const target = targetOf(event.key, at, entries.length);
    if (target !== null) entries[target]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') onClose(true);
    else return;
    event.preventDefault();
  };
  return (
    <div ref={menu} role="menu" aria-label={label} className="menu" onKeyDown={onKeyDown}>
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          className={item.bad === true ? 'menu-item menu-item-bad' : 'menu-item'}
          onClick={() => {
            // The button first: what is selected may look where the focus is.
            onClose(true);
            item.onSelect();
          }}
        >
          {item.icon}
          {item.label}
        </button>
      ))}
    </div>
  );
}

function targetOf(key: string, at: number, count: number): number | null {
  if (key === 'ArrowDown') return (at + 1) % count;
  if (key === 'ArrowUp') return (at - 1 + count) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : null;
}

/** Below the anchor's end, or above it where there is no room. */
function usePlace(menu: { readonly current: HTMLElement | null }, anchor: MenuProps['anchor']): void {
  useLayoutEffect(() => {
    const element = menu.current;
    const button = anchor.current;
    if (element === null || button === null) return;
    const { top, bottom, right } = button.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = element;
    const below = bottom + 4 + height <= innerHeight;
    element.style.top = `${Math.max(4, below ? bottom + 4 : top - 4 - height)}px`;
    element.style.left = `${Math.max(4, Math.min(right - 24, innerWidth - width - 4))}px`;
    element.querySelector('button')?.focus();
  }, [menu, anchor]);
}

function useCloseOutside(
  menu: { readonly current: HTMLElement | null },
  anchor: MenuProps['anchor'],
  onClose: (refocus: boolean) => void,
): void {
  useEffect(() => {
    const onPointerDown = ({ target }: Event) => {
      if (!(target instanceof Node)) return;
      // The button itself closes by its own click.
      if (menu.current?.contains(target) !== true && anchor.current?.contains(target) !== true) onClose(false);
    };
    const onMove = ({ target }: Event) => {
      // Only what carries the button away counts; an answer that streams beside it does not.
      if (!(target instanceof Node) || target.contains(anchor.current)) onClose(false);
    };
    document.addEventListener('pointerdown', onPointerDown, true);
    document.addEventListener('scroll', onMove, true);
    window.addEventListener('resize', onMove);
    return () => {
      document.removeEventListener('pointerdown', onPointerDown, true);
      document.removeEventListener('scroll', onMove, true);
      window.removeEventListener('resize', onMove);
    };
  }, [menu, anchor, onClose]);
}
