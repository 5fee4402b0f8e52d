import assert from "node:assert/strict";
import { test } from "node:test";
import { localTime } from "../src/clock.js";

const SUMMER = Date.UTC(2026, 6, 1, 12);
const WINTER = Date.UTC(2026, 0, 1, 12);

test("the user's zone gives the offset of that moment", () => {
  assert.equal(localTime(SUMMER, "Europe/Berlin").utcOffsetMinutes, 120);
  assert.equal(localTime(WINTER, "Europe/Berlin").utcOffsetMinutes, 60);
  assert.equal(localTime(WINTER, "Asia/Kathmandu").utcOffsetMinutes, 345);
  assert.equal(localTime(WINTER, "America/St_Johns").utcOffsetMinutes, -210);
  assert.equal(localTime(WINTER, "UTC").utcOffsetMinutes, 0);
});

test("without a zone, or with one that is none, the machine's clock counts", () => {
  const here = -new Date(SUMMER).getTimezoneOffset();
  for (const zone of [undefined, "", "Nowhere/Land"]) assert.equal(localTime(SUMMER, zone).utcOffsetMinutes, here);
});
