/** The Dormouse mark: a sleeping dormouse. Decorative; the name stands beside it. */
export function Mark({ size = 24 }: { readonly size?: number }) {
  return (
    <svg className="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <g className="mark-ears">
        <circle cx="7.2" cy="8.6" r="5.4" />
        <circle cx="24.8" cy="8.6" r="5.4" />
      </g>
      <path
        className="mark-head"
        d="M16 6.6c7 0 11.5 4.6 11.5 10.9 0 6.6-4.9 10.4-11.5 10.4S4.5 24.1 4.5 17.5C4.5 11.2 9 6.6 16 6.6Z"
      />
      <path className="mark-eyes" d="M8.8 17.3c1.3 1.7 3.6 1.7 4.9 0M18.3 17.3c1.3 1.7 3.6 1.7 4.9 0" />
      <path className="mark-nose" d="M14.6 21.4h2.8L16 23Z" />
      <path className="mark-whiskers" d="M9.8 22.6l-4.6-.5M10 24.3l-4.3 1.1M22.2 22.6l4.6-.5M22 24.3l4.3 1.1" />
    </svg>
  );
}
