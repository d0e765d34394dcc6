const REASONS: Record<string, string> = {
  not_precomputed: "Not pre-read yet",
  evicted: "Evicted to make room",
  expired: "Expired",
  stale_model: "Made for another model",
  stale_preamble: "Made for another preamble",
  stale_passage: "Made behind another passage",
  stale_profile: "Made for another profile",
  corrupt: "Damaged on the way",
  load_timeout: "Loaded too slowly",
  tier_down: "Storage did not answer",
  too_large: "Too large",
  disabled: "Cache switched off",
};

/** A miss reason in words; one that this page does not know is shown as it came. */
export function missReason(reason: string): string {
  return REASONS[reason] ?? reason;
}
