/** The Dormouse mark: a sleeping dormouse. Decorative; the name stands beside it. */
export function Mark({ size = 24 }: { readonly size?: number }) {
  return (
    <svg className="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <g className="mark-fur">
        <circle cx="8" cy="9" r="5" />
        <circle cx="24" cy="9" r="5" />
        <path d="M16 6c7 0 12 4.6 12 11.2C28 24 22.8 28 16 28S4 24 4 17.2C4 10.6 9 6 16 6Z" />
      </g>
      <path className="mark-ear" d="M7 8.5a2 2 0 0 1 2.4-1.4M25 8.5a2 2 0 0 0-2.4-1.4" />
      <path className="mark-face" d="M8.5 17.2c1.3 1.6 3.5 1.6 4.8 0M18.7 17.2c1.3 1.6 3.5 1.6 4.8 0" />
      <path className="mark-nose" d="M14.5 21.3h3L16 23Z" />
      <path className="mark-face" d="M3 20.8l4 .6M3.4 24l3.9-.9M29 20.8l-4 .6M28.6 24l-3.9-.9" strokeWidth="1" />
    </svg>
  );
}
