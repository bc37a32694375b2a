print("kizuna")
