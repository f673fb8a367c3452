const paths = {
  overview: 'M3 10.5 10 4l7 6.5M5 9v7.5h10V9',
  chart: 'M3.5 16.5h13M6 16.5V9.5M10 16.5V4M14 16.5v-5',
  payments: 'M3.5 7h11M11.5 4l3 3-3 3M16.5 13h-11M8.5 10l-3 3 3 3',
  approvals: 'M10 2.8 16 5v5c0 3.6-2.5 6-6 7.2C6.5 16 4 13.6 4 10V5zM7.3 10l2 2 3.5-3.8',
  people:
    'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 16.5c0-2.8 2.2-4.5 5-4.5s5 1.7 5 4.5M13 3.8a3 3 0 0 1 0 5.4M14.5 12.3c1.9.6 3 2.1 3 4.2',
  policy: 'M4 5h12M4 10h12M4 15h12M7.5 3.3v3.4M12.5 8.3v3.4M9 13.3v3.4',
  mandate: 'M5 3h7l3.5 3.5V17H5zM11.5 3v4h4M7.5 13.5c1-1.6 1.7-1.6 2 0s1.3 1.3 2.8-.8',
  topup: 'M10 3v9M6.5 8.5 10 12l3.5-3.5M3.5 13v3.5h13V13',
  code: 'M7 6 3 10l4 4M13 6l4 4-4 4',
  account: 'M10 10a3.3 3.3 0 1 0 0-6.6 3.3 3.3 0 0 0 0 6.6ZM3.8 17c.4-3.1 2.9-5 6.2-5s5.8 1.9 6.2 5',
  workspace: 'M4 17V4.5h7V17M11 8.5h5V17M2.5 17h15M6.5 7.5h2M6.5 10.5h2M6.5 13.5h2',
  plus: 'M10 4v12M4 10h12',
  check: 'm4.5 10.5 3.7 3.7 7.3-8',
  cross: 'm5 5 10 10M15 5 5 15',
  alert: 'M10 3 18 16.5H2zM10 8v4M10 14.3v.2',
  info: 'M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15ZM10 9v5M10 6.3v.2',
  clock: 'M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15ZM10 5.8V10l2.8 1.8',
  copy: 'M7 7V3.5h9.5V13H13M3.5 7H13v9.5H3.5z',
  chevron: 'm6 8 4 4 4-4',
  back: 'm12 5-5 5 5 5',
  forward: 'm8 5 5 5-5 5',
  wallet: 'M3.5 6v9.5h13v-8h-12A1.5 1.5 0 0 1 4 4.5h10.5V7M13 11.5h.2',
  phone: 'M6.5 2.5h7v15h-7zM9.3 15h1.4',
  freeze: 'M10 2.5v15M3.5 6.2l13 7.6M16.5 6.2l-13 7.6M8 3.5l2 2 2-2M8 16.5l2-2 2 2',
  more: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  key: 'M12.5 10.5a3.8 3.8 0 1 0-3.3-2L3.5 14v2.5H6v-2h2v-2h2z',
  robot: 'M4.5 7.5h11V15h-11zM10 4.5v3M10 4.5h.01M7.7 11h.01M12.3 11h.01M2.5 10v3M17.5 10v3',
  bolt: 'M11 2.5 4.5 11.5H9L8.5 17.5l7-9.5H10.5z',
  link: 'M8.5 11.5a3 3 0 0 0 4.3 0l3-3a3 3 0 0 0-4.3-4.3L10.5 5.2M11.5 8.5a3 3 0 0 0-4.3 0l-3 3a3 3 0 0 0 4.3 4.3l1-1',
  sun: 'M10 13.2a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4ZM10 2.5v1.7M10 15.8v1.7M2.5 10h1.7M15.8 10h1.7M4.7 4.7l1.2 1.2M14.1 14.1l1.2 1.2M15.3 4.7l-1.2 1.2M5.9 14.1l-1.2 1.2',
  moon: 'M16.5 11.8A6.8 6.8 0 0 1 8.2 3.5a6.8 6.8 0 1 0 8.3 8.3Z',
  language: 'M3 5h8M7 3v2M10 5c-.6 3-3 5.700-6.500 7M5 8c1 2 3 3.600 5 4.200M10 17l3.500-8 3.500 8M11.300 14.200h4.400',
  screen: 'M3 4h14v9.5H3zM7 16.5h6M10 13.5v3',
  print: 'M6 7V3h8v4M6 14H3.5V7h13v7H14M6 11.5h8V17H6z',
  out: 'M8 3.5H3.5v13H8M8 10h9M13.5 6.5 17 10l-3.5 3.5',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12ZM13.5 13.5 17 17',
  fingerprint:
    'M4.5 8.5a5.8 5.8 0 0 1 11 0M6.5 16c-.6-1.5-.9-3-.9-4.7a4.4 4.4 0 0 1 8.8 0c0 1.2.1 2.4.5 3.6M9 17a17 17 0 0 1-.9-5.7 1.9 1.9 0 0 1 3.8 0c0 2 .3 3.8 1 5.5',
  bank: 'M3 8l7-4.5L17 8M4.5 8v6.5M8.2 8v6.5M11.8 8v6.5M15.5 8v6.5M3 16.5h14',
  lock: 'M5 9h10v8H5zM7 9V6.5a3 3 0 0 1 6 0V9M10 12v2',
  bell: 'M10 3a4.5 4.5 0 0 0-4.5 4.5c0 4-1.7 5.2-1.7 6h12.4c0-.8-1.7-2-1.7-6A4.5 4.5 0 0 0 10 3ZM8.3 16.2a1.8 1.8 0 0 0 3.4 0',
  qr: 'M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM11.5 11.5h2v2M16.5 11.5v5h-3v-2',
  download: 'M10 3v9M6.5 8.5 10 12l3.5-3.5M4 16.5h12',
  list: 'M7 5h10M7 10h10M7 15h10M3.5 5h.01M3.5 10h.01M3.5 15h.01',
  receipt: 'M5 2.5h10v15l-2-1.3-1.7 1.3-1.3-1.3-1.3 1.3L7 16.2l-2 1.3zM7.8 6.5h4.4M7.8 10h4.4',
} as const

export type IconName = keyof typeof paths

/** Decoration beside text, never the only label. */

export const Icon = ({ name, size = 18 }: { name: IconName; size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.6"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={paths[name]} />
  </svg>
)
