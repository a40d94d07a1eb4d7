"""explaining"""
