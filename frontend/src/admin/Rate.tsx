import { count, NO_DATA, percent } from "../format";

interface Props {
  rate: number | null;
  n: number;
  unit?: string;
}

/** "50 % (n = 20)", or "no data" where nothing was measured. */
export function Rate({ rate, n, unit = "" }: Props) {
  if (rate === null) return NO_DATA;
  return (
    <>
      {percent(rate)}{" "}
      <span className="rate-n">
        (n = {count(n)}
        {unit && ` ${unit}`})
      </span>
    </>
  );
}
