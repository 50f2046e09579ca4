type Rows = readonly (readonly number[])[];
export function compareLogits(
  reference: Rows,
  other: Rows,
): { readonly nmse: number; readonly wrongTops: number; readonly rows: number };
